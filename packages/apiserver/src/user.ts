/** User of a request. */
export type User = {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
};

/** Identity of the server itself, which may do everything, for the server's internal requests. */
export const serverItself: User = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
