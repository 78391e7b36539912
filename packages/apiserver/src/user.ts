/** Who is asking. */
export type User = {
  readonly username: string;
  readonly uid?: string;
  readonly groups: readonly string[];
  readonly extra?: { readonly [key: string]: readonly string[] };
};

/** The server's own identity, which may do everything: what it does to keep itself running. */
export const serverItself: User = { username: 'system:apiserver', groups: ['system:masters', 'system:authenticated'] };
