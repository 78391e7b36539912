/** A text is not a valid value of its type. The message is that of Kubernetes and can be returned to clients. */
export class ParseError extends Error {
  override readonly name = 'ParseError';
}
