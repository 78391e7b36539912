import { styleText } from 'node:util';

/** Prints the progress of a command. */
export type Steps = {
  /** Runs a function under a title, and prints how long it took. */
  step<T>(title: string, work: () => T | Promise<T>): Promise<T>;
  print(text: string): void;
};

export function createSteps(output: NodeJS.WritableStream = process.stderr): Steps {
  return {
    async step(title, work) {
      const startMs = performance.now();
      try {
        const result = await work();
        const took = `${Math.round(performance.now() - startMs)} ms`;
        output.write(`${styleText('green', '✓')} ${title} ${styleText('dim', took)}\n`);
        return result;
      } catch (error) {
        output.write(`${styleText('red', '✗')} ${title}\n`);
        throw error;
      }
    },
    print: (text) => void output.write(`${text}\n`),
  };
}
