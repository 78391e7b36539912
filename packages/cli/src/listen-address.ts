/** Where something listens. */
export type ListenAddress = { readonly host: string; readonly port: number };

/** Reads `:8080`, which is that port on every address, or `localhost:8080`. */
export function parseListenAddress(text: string): ListenAddress {
  const colon = text.lastIndexOf(':');
  return {
    host: text.slice(0, Math.max(colon, 0)).replace(/^\[|\]$/g, '') || '::',
    port: Number(text.slice(colon + 1)),
  };
}
