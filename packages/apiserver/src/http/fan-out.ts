import { Buffer } from 'node:buffer';

/**
 * Serves those who watch in turn, a few at a time. In between, requests are answered; and whatever else a watcher is
 * to be sent by the time its turn comes goes out in the same write, so that the more there is to send the less each
 * event costs.
 */
export interface FanOut {
  /** Has someone served who has something to be sent, and is not waiting to be served already. */
  wait(serve: () => void): void;
  /** Frames one after the other. Most watchers of a kind are sent the same ones. */
  join(frames: readonly Uint8Array[]): Uint8Array;
}

/** Some milliseconds of work. */
const servedPerTurn = 100;

export function createFanOut(): FanOut {
  let waiting: (() => void)[] = [];
  let next = 0;
  let lastFrames: readonly Uint8Array[] = [];
  let lastJoined: Uint8Array = Buffer.alloc(0);

  function serveSome(): void {
    const end = Math.min(waiting.length, next + servedPerTurn);
    while (next < end) waiting[next++]!();
    if (next < waiting.length) {
      setImmediate(serveSome);
      return;
    }
    waiting = [];
    next = 0;
  }

  return {
    wait(serve) {
      if (waiting.length === 0) setImmediate(serveSome);
      waiting.push(serve);
    },
    join(frames) {
      if (frames.length === 1) return frames[0]!;
      if (frames.length !== lastFrames.length || !frames.every((frame, index) => frame === lastFrames[index])) {
        lastFrames = frames;
        lastJoined = Buffer.concat(frames);
      }
      return lastJoined;
    },
  };
}
