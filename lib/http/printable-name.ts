/** A client's field or parameter name as an error message may show it: short and plain, or not at all. */
export const printableName = (name: string): string =>
  /^(?!pets_(live|test)_)[\w.$-]{1,32}$/.test(name) ? name : 'a field with an unprintable name';
