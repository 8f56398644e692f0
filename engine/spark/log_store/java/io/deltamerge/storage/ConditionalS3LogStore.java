package io.deltamerge.storage;

import io.delta.storage.HadoopFileSystemLogStore;
import java.io.ByteArrayOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.Arrays;
import java.util.Iterator;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FSDataInputStream;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FSDataOutputStreamBuilder;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Delta's log on S3, safe for several drivers: a commit is written by S3's conditional create ({@code If-None-Match: *}),
 * so that of all who write one version a single one succeeds. It protects only if every writer of the table uses it.
 *
 * <p>Set by {@code spark.delta.logStore.s3a.impl} (and {@code s3}). Tested with S3A of Hadoop 3.5.0.
 */
public final class ConditionalS3LogStore extends HadoopFileSystemLogStore {

    private static final Logger LOG = LoggerFactory.getLogger(ConditionalS3LogStore.class);

    /** S3A's name for {@code If-None-Match: *} (Options.CreateFileOptionKeys in Hadoop). */
    private static final String CONDITIONAL = "fs.option.create.conditional.overwrite";

    private static final int READS = 5;
    private static final int PROBES = 5;
    private static final long FIRST_PAUSE_MILLIS = 200;

    /** The buckets that have shown in this JVM that they honour the condition. */
    private static final Set<String> HONOURED = ConcurrentHashMap.newKeySet();

    /** @param conf Hadoop's settings, as Delta's LogStoreProvider gives them */
    public ConditionalS3LogStore(Configuration conf) {
        super(conf);
    }

    /**
     * Writes the lines to {@code path}, whole or not at all.
     *
     * @throws FileAlreadyExistsException if another content is there and {@code overwrite} is false: a conflict
     * @throws IOException if it failed and the file is not there, or if it is unknown whether it is: the message says so
     */
    @Override
    public void write(Path path, Iterator<String> actions, Boolean overwrite, Configuration conf) throws IOException {
        FileSystem fs = path.getFileSystem(conf);
        byte[] content = bytes(actions);
        if (overwrite) {
            send(fs.create(path, true), content);
        } else {
            requireCondition(fs, path);
            create(fs, path, content);
        }
    }

    /** S3 shows an object when all of it is there. */
    @Override
    public Boolean isPartialWriteVisible(Path path, Configuration conf) {
        return false;
    }

    private static byte[] bytes(Iterator<String> lines) {
        ByteArrayOutputStream content = new ByteArrayOutputStream();
        while (lines.hasNext()) {
            content.writeBytes(lines.next().getBytes(StandardCharsets.UTF_8));
            content.write('\n');
        }
        return content.toByteArray();
    }

    /**
     * After any error the file is read: a lost answer must not make a commit look like a conflict, for Delta would
     * then commit the same rows again as the next version.
     */
    private static void create(FileSystem fs, Path path, byte[] content) throws IOException {
        try {
            createIfAbsent(fs, path, content);
        } catch (IOException error) {
            byte[] there = readBack(fs, path, content.length, error);
            if (there == null) {
                throw error;
            }
            if (!Arrays.equals(there, content)) {
                FileAlreadyExistsException conflict = new FileAlreadyExistsException(path.toString());
                conflict.initCause(error);
                throw conflict;
            }
            LOG.info("{} was written, though its answer was: {}", path, error.toString());
        }
    }

    private static void createIfAbsent(FileSystem fs, Path path, byte[] content) throws IOException {
        FSDataOutputStreamBuilder<?, ?> file = fs.createFile(path);
        file.recursive();
        file.must(CONDITIONAL, true);
        send(file.build(), content);
    }

    /** Closing sends what was written: after a failure half of it must not be sent. */
    private static void send(FSDataOutputStream out, byte[] content) throws IOException {
        try {
            out.write(content);
        } catch (IOException | RuntimeException error) {
            try {
                out.abort();
            } catch (RuntimeException cannot) {
                error.addSuppressed(cannot);
            }
            throw error;
        }
        out.close();
    }

    /** The file's first {@code length + 1} bytes, or null if there is no such file. */
    private static byte[] readBack(FileSystem fs, Path path, int length, IOException cause) throws IOException {
        long pause = FIRST_PAUSE_MILLIS;
        for (int reads = 1; ; reads++) {
            try (FSDataInputStream in = fs.open(path)) {
                return in.readNBytes(length + 1);
            } catch (FileNotFoundException absent) {
                return null;
            } catch (IOException error) {
                if (reads == READS || !paused(pause)) {
                    IOException unknown = new IOException(
                            "It is unknown whether " + path + " was written, the commit may be there: the write failed ("
                                    + cause + "), and reading it back, too (" + error
                                    + "). Read the table's history before you run the statement again.",
                            cause);
                    unknown.addSuppressed(error);
                    throw unknown;
                }
                pause *= 2;
            }
        }
    }

    /**
     * Once for each bucket and JVM: two conditional creates of one key beside the log, of which the second must be
     * refused. A store that takes both would let drivers overwrite each other's commits.
     *
     * @throws UnsupportedOperationException if the store does not honour the condition
     */
    private static void requireCondition(FileSystem fs, Path commit) throws IOException {
        String bucket = fs.getUri().toString();
        if (HONOURED.contains(bucket)) {
            return;
        }
        // Hidden, and not in the log's folder, which Delta lists.
        Path log = commit.getParent();
        Path folder = log.getParent() == null ? log : log.getParent();
        Path probe = new Path(folder, ".deltamerge-probe-" + UUID.randomUUID());
        try {
            create(fs, probe, new byte[] {'1'});
            if (!isRefused(fs, probe)) {
                throw new UnsupportedOperationException(bucket + " does not honour If-None-Match, so that one driver may"
                        + " overwrite the commit of another. Nothing was written. Use a store that does (Amazon S3,"
                        + " MinIO), or Delta's own log store with a single driver.");
            }
            HONOURED.add(bucket);
        } finally {
            delete(fs, probe);
        }
    }

    private static boolean isRefused(FileSystem fs, Path probe) throws IOException {
        long pause = FIRST_PAUSE_MILLIS;
        for (int probes = 1; ; probes++) {
            try {
                createIfAbsent(fs, probe, new byte[] {'2'});
                return false;
            } catch (IOException error) {
                if (isPreconditionFailed(error)) {
                    return true;
                }
                // Any other error says nothing about the condition.
                if (probes == PROBES || !paused(pause)) {
                    throw error;
                }
                pause *= 2;
            }
        }
    }

    /** By name: S3A's classes are no dependency of this one. */
    private static boolean isPreconditionFailed(Throwable error) {
        for (Throwable one = error; one != null; one = one.getCause()) {
            String name = one.getClass().getSimpleName();
            String message = String.valueOf(one.getMessage());
            if (name.equals("RemoteFileChangedException")
                    || name.equals("FileAlreadyExistsException")
                    || message.contains("Status Code: 412")) {
                return true;
            }
        }
        return false;
    }

    private static void delete(FileSystem fs, Path probe) {
        try {
            fs.delete(probe, false);
        } catch (IOException error) {
            LOG.warn("{} could not be deleted; it is no part of the table", probe, error);
        }
    }

    private static boolean paused(long millis) {
        try {
            Thread.sleep(millis);
            return true;
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
