"""What the Merge and the Create place share: editor, preview, commit."""
