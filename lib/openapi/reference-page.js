// This script runs in the browser and starts Scalar.

const response = await fetch('options.json');
const options = await response.json();

/** Returns the API key in the address that `npm start` prints, and keeps it until the tab is closed. */
const localApiKey = () => {
  const [, given] = /^#api-key=(.+)$/.exec(location.hash) ?? [];
  if (given) {
    sessionStorage.setItem('api-key', given);
    // The key is removed from the address, so that no bookmark and no copied address contains it.
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem('api-key');
};

/** Gives each creation a new Idempotency-Key, unless the reader has written one. */
const onBeforeRequest = ({ requestBuilder: { method, headers } }) => {
  if (method === 'POST' && !headers.has('Idempotency-Key'))
    headers.set('Idempotency-Key', crypto.randomUUID());
};

// Only the page of the local service has servers.
const apiKey = options.servers && localApiKey();
const authentication = { securitySchemes: { apiKey: { token: apiKey } } };
window.Scalar.createApiReference('#page', {
  ...options,
  onBeforeRequest,
  ...(apiKey && { authentication }),
});
