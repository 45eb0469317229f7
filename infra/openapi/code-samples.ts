import type { OperationName } from '../../lib/contract/operations.ts';

/** The part of a request that differs between operations, in each language. */
interface Sample {
  readonly curl: string;
  readonly typescript: string;
  readonly python: string;
}

const samples: Readonly<Record<OperationName, Sample>> = {
  listPets: {
    curl: '"$BASE_URL/pets?limit=5&status=available"',
    typescript: `for await (const pet of store.listPets({ status: 'available' })) {
  console.log(pet.id, pet.name);
}`,
    python: `requests.get(
    base_url + "/pets",
    params={"limit": 5, "status": "available"},
    headers=headers,
)`,
  },
  createPet: {
    curl: `"$BASE_URL/pets" \\
  -H "Idempotency-Key: $(openssl rand -hex 16)" \\
  -H "Content-Type: application/json" \\
  -d '{"name":"Rex","categoryId":1}'`,
    typescript: `const pet = await store.createPet({ name: 'Rex', categoryId: 1 });
console.log(pet.id, pet.name);`,
    python: `requests.post(
    base_url + "/pets",
    json={"name": "Rex", "categoryId": 1},
    headers={**headers, "Idempotency-Key": str(uuid.uuid4())},
)`,
  },
  getPet: {
    curl: '"$BASE_URL/pets/7905532871371142"',
    typescript: `const pet = await store.getPet(7905532871371142);
console.log(pet.id, pet.name);`,
    python: `requests.get(
    base_url + "/pets/7905532871371142",
    headers=headers,
)`,
  },
};

/** Requests of an operation as programs for the extension `x-codeSamples`. They read BASE_URL and API_KEY. */
export const codeSamples = (name: OperationName) => {
  const { curl, typescript, python } = samples[name];
  return [
    {
      lang: 'shell',
      label: 'curl',
      source: `curl ${curl} \\\n  -H "Authorization: Bearer $API_KEY"`,
    },
    {
      lang: 'typescript',
      label: 'TypeScript',
      source: `import { AnimalStore } from 'animal-store-client';

const { BASE_URL: baseAddress = '', API_KEY: apiKey = '' } = process.env;
const store = new AnimalStore({ baseAddress, apiKey });

${typescript}`,
    },
    {
      lang: 'python',
      label: 'Python',
      source: `import os
${python.includes('uuid') ? 'import uuid\n' : ''}import requests

base_url = os.environ["BASE_URL"]
headers = {"Authorization": f"Bearer {os.environ['API_KEY']}"}
response = ${python}
response.raise_for_status()
print(response.json())`,
    },
  ];
};
