"""The steps of CREATE and REPLACE TABLE, named after CreateDeltaTableCommand's."""
