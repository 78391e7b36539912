/** Syntax tree of a shell script. */

export type Script = { readonly kind: 'list'; readonly items: readonly ListItem[] };
export type ListItem = { readonly command: Command; readonly isBackground: boolean };

export type Command = {
  readonly redirections: readonly Redirection[];
} & (
  | { readonly kind: 'simple'; readonly assignments: readonly Assignment[]; readonly words: readonly Word[] }
  | { readonly kind: 'pipeline'; readonly commands: readonly Command[]; readonly isNegated: boolean }
  | { readonly kind: 'and' | 'or'; readonly left: Command; readonly right: Command }
  | { readonly kind: 'if'; readonly branches: readonly Branch[]; readonly otherwise: Script | undefined }
  | { readonly kind: 'while' | 'until'; readonly condition: Script; readonly body: Script }
  | { readonly kind: 'for'; readonly name: string; readonly words: readonly Word[] | undefined; readonly body: Script }
  | { readonly kind: 'case'; readonly subject: Word; readonly cases: readonly Case[] }
  | { readonly kind: 'group' | 'subshell'; readonly body: Script }
  | { readonly kind: 'function'; readonly name: string; readonly body: Command }
);

export type Branch = { readonly condition: Script; readonly body: Script };
export type Case = { readonly patterns: readonly Word[]; readonly body: Script };
export type Assignment = { readonly name: string; readonly value: Word };

export type Redirection =
  | { readonly kind: 'read' | 'write' | 'append'; readonly descriptor: number; readonly target: Word }
  | { readonly kind: 'duplicate'; readonly descriptor: number; readonly target: Word }
  | { readonly kind: 'text'; readonly descriptor: number; readonly text: Word };

/** Adjacent parts that form one word, or several if they are expanded unquoted. */
export type Word = readonly WordPart[];

export type WordPart =
  | { readonly kind: 'literal'; readonly text: string; readonly isQuoted: boolean }
  | { readonly kind: 'parameter'; readonly parameter: Parameter; readonly isQuoted: boolean }
  | { readonly kind: 'command'; readonly script: Script; readonly isQuoted: boolean }
  | { readonly kind: 'arithmetic'; readonly expression: Word; readonly isQuoted: boolean };

export type Parameter = {
  readonly name: string;
  /** `-`, `:-`, `=`, `:=`, `+`, `:+`, `?`, `:?`, `%`, `%%`, `#`, `##`, `/`, `//`, `:`; `length` for `${#name}`. */
  readonly operator?: string;
  readonly word?: Word;
  /** Replacement of the `/` operator. */
  readonly replacement?: Word;
};

export class ShellSyntaxError extends Error {
  override readonly name = 'ShellSyntaxError';
}
