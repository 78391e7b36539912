import { styleText } from 'node:util';

/** Tells a person what is being done, as it is done. */
export type Steps = {
  /** Does something under a title, and says how long it took. */
  step<T>(title: string, work: () => T | Promise<T>): Promise<T>;
  say(text: string): void;
};

export function createSteps(output: NodeJS.WritableStream = process.stderr): Steps {
  return {
    async step(title, work) {
      const begun = performance.now();
      try {
        const result = await work();
        const took = `${Math.round(performance.now() - begun)} ms`;
        output.write(`${styleText('green', '✓')} ${title} ${styleText('dim', took)}\n`);
        return result;
      } catch (error) {
        output.write(`${styleText('red', '✗')} ${title}\n`);
        throw error;
      }
    },
    say: (text) => void output.write(`${text}\n`),
  };
}
