// Adds an animal and lists all animals, with the client that oapi-codegen generates.
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"log"
	"net/http"
	"net/url"
	"os"
	"strings"

	"example.com/animal-store/client"
)

func authorize(_ context.Context, request *http.Request) error {
	request.Header.Set("Authorization", "Bearer "+os.Getenv("API_KEY"))
	return nil
}

func main() {
	background := context.Background()
	pets, err := client.NewClientWithResponses(os.Getenv("BASE_URL"), client.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}

	newPet := client.NewPet{Name: "Rex", CategoryId: 1}
	// With the same key, a creation whose response was lost can be repeated.
	key := rand.Text()
	created, err := pets.CreatePetWithResponse(background, &client.CreatePetParams{IdempotencyKey: &key}, newPet)
	if err != nil {
		log.Fatal(err)
	}
	if created.JSON201 == nil {
		log.Fatalf("%s %s", created.Status(), created.Body)
	}
	fmt.Println("added", created.JSON201.Id)

	limit := int32(100)
	parameters := client.ListPetsParams{Limit: &limit}
	for {
		page, err := pets.ListPetsWithResponse(background, &parameters)
		if err != nil {
			log.Fatal(err)
		}
		if page.JSON200 == nil {
			log.Fatalf("%s %s", page.Status(), page.Body)
		}
		for _, pet := range *page.JSON200 {
			fmt.Printf("%d %q %d %s\n", pet.Id, pet.Name, pet.CategoryId, pet.Status)
		}
		cursor := cursorOf(page.HTTPResponse.Header.Get("Link"))
		if cursor == "" {
			return
		}
		parameters.Cursor = &cursor
	}
}

// cursorOf returns the cursor of the link to the next page. The last page has no link.
func cursorOf(link string) string {
	address, _, _ := strings.Cut(strings.TrimPrefix(link, "<"), ">")
	next, err := url.Parse(address)
	if err != nil {
		log.Fatal(err)
	}
	return next.Query().Get("cursor")
}
