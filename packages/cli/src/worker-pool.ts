import { fork } from 'node:child_process';

/** How V8 is to run processes that do the same over and over, one for each core. */
const tuning = [
  // Room for what is soon forgotten, which most of it is, and for what is forgotten a little later: where there is less, a
  // fifth of the time goes into moving it and into looking for it.
  '--max-semi-space-size=64',
  '--initial-heap-size=512',
  // With a process for each core, threads that help are in each other's way.
  '--single-threaded-gc',
  // What only the beginning of a piece of work runs would be compiled anew for the next.
  '--no-flush-bytecode',
  // Where an error came from is of no use to whoever gets the results: what went wrong is done again without this.
  '--stack-trace-limit=0',
];

/** Handling of work whose process ended, or gave no answer in time and was killed. */
export type Losses<W, R> = { readonly limitMs: number; readonly resultOf: (work: W, why: string) => R };

/**
 * Has work done by processes of this very command, each started with these arguments; results come in the order they
 * are ready. Each process receives a piece of work, answers with the result, and receives the next. A lost process
 * is not replaced.
 */
export async function* inWorkers<W, R>(
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
      // A process works only on a piece that was sent to it.
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
      // A worker answers with what its command says it does.
      answered(result as R);
      next();
      wake.resolve();
    });
    worker.on('exit', (code, signal) => {
      if (isBusy && losses) answered(losses.resultOf(current as W, `its process ended with ${code ?? signal}`));
      else if (code) failed ??= new Error(`a worker ended with ${code}`);
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

/** Does the work this process is sent, one piece after the other. */
export function serveAsWorker<W, R>(work: (work: W) => Promise<R>): Promise<number> {
  process.on('message', async (message) => process.send!(await work(message as W)));
  return new Promise((resolve) => process.once('disconnect', () => resolve(0)));
}
