/** The text is not a value of the type asked for. The message is the one Kubernetes gives, fit to be shown to a client. */
export class ParseError extends Error {
  override readonly name = 'ParseError';
}
