// This script runs in the browser and starts Scalar.

const response = await fetch('options.json');
const { apiKeyAddress, ...options } = await response.json();

/** Gets the API key of the local service for the token in the address that `npm start` prints. */
const localApiKey = async () => {
  const [, given] = /^#token=(.+)$/.exec(location.hash) ?? [];
  if (given) {
    sessionStorage.setItem('token', given);
    // The token is removed from the address, so that no bookmark and no copied address contains it.
    history.replaceState(null, '', location.pathname);
  }
  const token = sessionStorage.getItem('token');
  if (!token) return undefined;
  const answer = await fetch(apiKeyAddress, { headers: { Authorization: `Bearer ${token}` } });
  return answer.ok ? answer.text() : undefined;
};

/** Gives each creation a new Idempotency-Key, unless the reader has written one. */
const onBeforeRequest = ({ requestBuilder: { method, headers } }) => {
  if (method === 'POST' && !headers.has('Idempotency-Key'))
    headers.set('Idempotency-Key', crypto.randomUUID());
};

const apiKey = apiKeyAddress && (await localApiKey());
const authentication = { securitySchemes: { apiKey: { token: apiKey } } };
window.Scalar.createApiReference('#page', {
  ...options,
  onBeforeRequest,
  ...(apiKey && { authentication }),
});
