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
  if (method !== 'POST' || headers.has('Idempotency-Key')) return;
  // 128 random bits. Web pages have `crypto.randomUUID` only on https and localhost.
  headers.set('Idempotency-Key', crypto.getRandomValues(new Uint32Array(4)).join('-'));
};

// Only the page of the local service has servers.
const apiKey = options.servers && localApiKey();
const authentication = { securitySchemes: { apiKey: { token: apiKey } } };
window.Scalar.createApiReference('#page', {
  ...options,
  onBeforeRequest,
  ...(apiKey && { authentication }),
});
