import io.delta.storage.LogStore;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.Path;

/**
 * One driver of a race: commits as Delta does, the next version after a conflict.
 *
 * <p>Arguments: a log store's class, settings as {@code key=value}. For each line {@code LOG VERSION TOKEN LENGTH} on its
 * input it commits an entry of about that length with the token, from that version on, and prints one line: {@code
 * committed VERSION} or {@code failed VERSION REASON}.
 */
public final class Duel {

    private Duel() {}

    public static void main(String[] arguments) throws Exception {
        Configuration conf = new Configuration();
        for (int i = 1; i < arguments.length; i++) {
            String[] setting = arguments[i].split("=", 2);
            conf.set(setting[0], setting[1]);
        }
        LogStore store = (LogStore) Class.forName(arguments[0]).getConstructor(Configuration.class).newInstance(conf);
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            String[] parts = order.split(" ");
            String entry = "{\"commitInfo\":{\"txnId\":\"" + parts[2] + "\"}}";
            List<String> lines = List.of(entry, "{\"add\":\"" + "x".repeat(Integer.parseInt(parts[3])) + "\"}");
            System.out.println(commit(store, conf, parts[0], Long.parseLong(parts[1]), lines));
        }
    }

    private static String commit(LogStore store, Configuration conf, String log, long from, List<String> lines) {
        for (long version = from; ; version++) {
            try {
                store.write(new Path(log, String.format("%020d.json", version)), lines.iterator(), false, conf);
                return "committed " + version;
            } catch (FileAlreadyExistsException conflict) {
                continue;
            } catch (IOException | RuntimeException error) {
                return "failed " + version + " " + error.toString().replace('\n', ' ');
            }
        }
    }
}
