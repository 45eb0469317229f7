import java.io.OutputStream;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import software.amazon.dynamodb.services.local.main.ServerRunner;
import software.amazon.dynamodb.services.local.server.DynamoDBProxyServer;

/** DynamoDB Local on 127.0.0.1 only: its own command line listens on every interface. Prints `ready` when it listens. */
class DynamodbOnLoopback {
  public static void main(String[] arguments) throws Exception {
    var dynamodb = ServerRunner.createServerFromCommandLineArgs(arguments);
    var field = DynamoDBProxyServer.class.getDeclaredField("server");
    field.setAccessible(true);
    for (var connector : ((Server) field.get(dynamodb)).getConnectors()) {
      ((ServerConnector) connector).setHost("127.0.0.1");
    }
    dynamodb.start();
    System.out.println("ready");
    // Standard input closes when the process that started this one ends, in any way.
    System.in.transferTo(OutputStream.nullOutputStream());
    System.exit(0);
  }
}
