import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Runs DynamoDB Local on 127.0.0.1 only, because its own command line listens on every interface. Prints
 * `ready` when it listens. The property `data` names a directory that no other process may use meanwhile.
 * The property `reset` removes the data in that directory first.
 */
class DynamodbOnLoopback {
  /** The lock of the data directory. It is kept in a field, because it ends when its channel is garbage. */
  private static FileChannel lock;

  public static void main(String[] arguments) throws Exception {
    var data = System.getProperty("data");
    if (data != null) prepare(Path.of(data), Boolean.getBoolean("reset"));
    var dynamodb = ServerRunner.createServerFromCommandLineArgs(arguments);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (var connector : ((Server) field.get(dynamodb)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    dynamodb.start();
    System.out.println("ready");
    // Standard input closes when the process that started this one ends, for whatever reason.
    System.in.transferTo(OutputStream.nullOutputStream());
    System.exit(0);
  }

  /**
   * Locks the data directory and checks that it can be written. Without a lock, two processes make each
   * other's requests fail. Without write access, the first request never ends.
   */
  private static void prepare(Path data, boolean reset) {
    var database = data.resolve("shared-local-instance.db");
    try {
      // The operating system removes the lock when this process ends, in any way.
      lock = FileChannel.open(
          data.resolve("animal-store.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
      if (lock.tryLock() == null) refuse("Another service uses " + data + ". Stop it");
      if (reset) Files.deleteIfExists(database);
      if (Files.exists(database) && !Files.isWritable(database)) {
        throw new AccessDeniedException(database.toString());
      }
    } catch (IOException cause) {
      var reason = cause.getClass().getSimpleName() + ": " + cause.getMessage();
      refuse("Can't write to " + data + " (" + reason + "). Make it writable");
    }
  }

  /** Ends with the status that tells a directory that can't be used from a Java that can't be used. */
  private static void refuse(String problem) {
    System.err.println(problem + ", or choose another directory with --data.");
    System.exit(2);
  }
}
