import { fork } from 'node:child_process';

/** V8 flags of worker processes, which repeat similar work, one process per core. */
const tuning = [
  // A large young generation, because most objects are short-lived, and a large initial heap for the rest: with less, a
  // fifth of the time is spent on copying and marking.
  '--max-semi-space-size=64',
  '--initial-heap-size=512',
  // With one process per core, parallel GC threads compete with each other.
  '--single-threaded-gc',
  // Code that runs only at the start of a task would be recompiled for the next task.
  '--no-flush-bytecode',
  // Receivers of results need no stack traces: failures are reproduced without this flag.
  '--stack-trace-limit=0',
];

/** Handling of tasks whose process exited, or was killed after a timeout. */
export type Losses<W, R> = { readonly limitMs: number; readonly resultOf: (work: W, why: string) => R };

/**
 * Distributes tasks to worker processes of this command, each started with the given arguments. Yields results in the
 * order of completion. Each process receives a task, replies with the result, and receives the next task. A lost
 * process is not replaced.
 */
export async function* runInWorkers<W, R>(
  args: readonly string[],
  count: number,
  work: Iterable<W>,
  losses?: Losses<W, R>,
): AsyncGenerator<{ readonly work: W; readonly result: R }> {
  const left = Iterator.from(work);
  const done: { readonly work: W; readonly result: R }[] = [];
  let wake = Promise.withResolvers<void>();
  let failed: Error | undefined;
  const execArgv = [...process.execArgv, ...tuning];
  const workers = Array.from({ length: count }, () =>
    fork(process.argv[1]!, args, { serialization: 'advanced', execArgv }),
  );
  let busy = 0;
  for (const worker of workers) {
    let current: W | undefined;
    let isBusy = false;
    let timer: NodeJS.Timeout | undefined;
    const answered = (result: R) => {
      clearTimeout(timer);
      isBusy = false;
      busy--;
      // A worker processes only the task that was sent to it.
      done.push({ work: current as W, result });
    };
    const next = () => {
      const { done: isOver, value } = left.next();
      current = value;
      if (isOver) worker.disconnect();
      else {
        busy++;
        isBusy = true;
        if (losses) timer = setTimeout(() => worker.kill('SIGKILL'), losses.limitMs);
        worker.send(value as object);
      }
    };
    worker.on('message', (result) => {
      // The result type is defined by the worker's command.
      answered(result as R);
      next();
      wake.resolve();
    });
    worker.on('exit', (code, signal) => {
      if (isBusy && losses) answered(losses.resultOf(current as W, `the worker process exited with ${code ?? signal}`));
      else if (code) failed ??= new Error(`a worker process exited with ${code}`);
      wake.resolve();
    });
    next();
  }
  try {
    while (busy > 0 || done.length > 0) {
      const next = done.shift();
      if (next) yield next;
      else if (failed) throw failed;
      else {
        await wake.promise;
        wake = Promise.withResolvers();
      }
    }
  } finally {
    for (const worker of workers) worker.kill();
  }
}

/** Runs the tasks that the parent process sends, one after the other. */
export function serveAsWorker<W, R>(work: (work: W) => Promise<R>): Promise<number> {
  process.on('message', async (message) => process.send!(await work(message as W)));
  return new Promise((resolve) => process.once('disconnect', () => resolve(0)));
}
