import { chain } from './chain.ts';
import { errorResponses } from './error-responses.ts';

/** The chain for requests that are no operation of the contract: open to strangers, so it must tell them nothing. */
export const openRoute = (name: string) => chain().use(errorResponses(name));
