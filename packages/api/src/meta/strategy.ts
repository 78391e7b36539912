/** What preparing an object for creation depends on beside the object. */
export type CreateContext = {
  /** The time of the request, as objects write it. */
  readonly now: string;
  /** Tells the writer something the answer's Warning headers carry. */
  readonly warn: (text: string) => void;
};
