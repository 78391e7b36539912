/** What a text was found to stand for, remembered: a cluster's objects say the same few things again and again. */

/** How much is remembered. */
export type RememberedOptions = {
  /** Texts that are longer are worked out each time. */
  readonly maxLength: number;
};

/** When so many are remembered all are forgotten: whoever sends ever new texts is not to fill the memory. */
const maxRemembered = 4096;

/** The same function of a text, which must give the same for the same text whenever it is asked, worked out once. */
export function remembered<T>(of: (text: string) => T, { maxLength }: RememberedOptions): (text: string) => T {
  const known = new Map<string, T>();
  return (text) => {
    const found = known.get(text);
    if (found !== undefined) return found;
    const result = of(text);
    if (text.length <= maxLength) {
      if (known.size === maxRemembered) known.clear();
      known.set(text, result);
    }
    return result;
  };
}
