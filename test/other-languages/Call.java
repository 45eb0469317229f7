import java.util.List;
import org.openapitools.client.ApiClient;
import org.openapitools.client.ApiException;
import org.openapitools.client.ApiResponse;
import org.openapitools.client.api.PetsApi;
import org.openapitools.client.model.Error;
import org.openapitools.client.model.NewPet;
import org.openapitools.client.model.Pet;

/** Calls the service with the Java client that openapi-generator generates from openapi.json. */
class Call {
  static ApiClient as(String apiKey) {
    return as(apiKey, System.getenv("BASE_URL"));
  }

  static ApiClient as(String apiKey, String address) {
    var client = new ApiClient();
    client.updateBaseUri(address);
    client.setRequestInterceptor(
        request -> request.header("Authorization", "Bearer " + apiKey));
    return client;
  }

  static void check(boolean ok, Object value) {
    if (!ok) throw new AssertionError(value);
  }

  public static void main(String[] args) throws Exception {
    var pets = new PetsApi(as(System.getenv("API_KEY")));

    var pet = pets.createPet(new NewPet().name(" Rex").categoryId(Long.MAX_VALUE), null);
    check(pet.getCategoryId() == Long.MAX_VALUE, pet);
    check(pets.getPet(pet.getId(), null).equals(pet), pet);
    pets.createPet(new NewPet().name("Mia").categoryId(1L), null);

    ApiResponse<List<Pet>> first = pets.listPetsWithHttpInfo(1, null, null);
    var link = first.getHeaders().entrySet().stream()
        .filter(header -> header.getKey().equalsIgnoreCase("Link"))
        .findFirst().orElseThrow().getValue().get(0);
    var cursor = link.replaceFirst("^<[^>]*[?&]cursor=([^&>]*).*$", "$1");
    List<Pet> second = pets.listPets(1, null, cursor);
    check(!second.get(0).getId().equals(first.getData().get(0).getId()), second);

    var stranger = as("wrong");
    try {
      new PetsApi(stranger).listPets(null, null, null);
      throw new AssertionError("A wrong API key was accepted");
    } catch (ApiException refused) {
      var error = stranger.getObjectMapper().readValue(refused.getResponseBody(), Error.class);
      check(refused.getCode() == 401 && error.getCode().equals("unauthorized"), error);
    }

    var later = as(System.getenv("API_KEY"), System.getenv("LATER_URL"));
    List<Pet> page = new PetsApi(later).listPets(null, null, null);
    check(page.get(0).getStatus().equals("reserved"), page);
    System.out.println("Java: two pages, a 64-bit category, a typed 401 and a new status");
  }
}
