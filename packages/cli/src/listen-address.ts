/** Host and port to listen on. */
export type ListenAddress = { readonly host: string; readonly port: number };

/** Parses `:8080`, which means that port on every address, or `localhost:8080`. */
export function parseListenAddress(text: string): ListenAddress {
  const colon = text.lastIndexOf(':');
  return {
    host: text.slice(0, Math.max(colon, 0)).replace(/^\[|\]$/g, '') || '::',
    port: Number(text.slice(colon + 1)),
  };
}
