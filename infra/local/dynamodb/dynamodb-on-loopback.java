import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/**
 * Runs DynamoDB Local on a free port of 127.0.0.1, because its own command line listens on every interface.
 * Prints `ready` and the port when it listens. The property `data` names its directory, if it has one.
 */
class DynamodbOnLoopback {
  /** The lock of the data directory. It is kept in a field, because it ends when its channel is garbage. */
  private static FileChannel lock;

  public static void main(String[] arguments) throws Exception {
    var data = System.getProperty("data");
    if (data != null) lockDirectory(Path.of(data));
    var dynamodb = ServerRunner.createServerFromCommandLineArgs(arguments);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    var connector = (ServerConnector) ((Server) field.get(dynamodb)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    dynamodb.start();
    System.out.println("ready " + connector.getLocalPort());
    // Standard input closes when the process that started this one ends, for whatever reason.
    System.in.transferTo(OutputStream.nullOutputStream());
    System.exit(0);
  }

  /** Locks the data directory: two processes would make each other's requests fail. */
  private static void lockDirectory(Path data) throws IOException {
    // The operating system removes the lock when this process ends, in any way.
    lock = FileChannel.open(
        data.resolve("animal-store.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
    if (lock.tryLock() == null) {
      System.err.println("Another service uses " + data + ". Choose another directory with --data.");
      System.exit(1);
    }
  }
}
