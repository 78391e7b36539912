/**
 * Flow control of a connection. Windows are used only with a peer that announces its own; all data may be sent to other
 * peers.
 */
import { SpdyProtocolError } from './spdy-frames.ts';

/** Flow control of a connection. */
export type FlowControl = {
  /** Reports whether the peer uses flow control. */
  isEnabled(): boolean;
  /** Returns the send window of a new stream. */
  initialWindow(): number;
  /** Sets the window that the peer announces; returns by how much the windows of existing streams change. */
  setInitialWindow(bytes: number): number;
  /** Returns how many bytes may be sent on a stream with the given window. */
  roomFor(streamWindow: number): number;
  /** Takes sent bytes from the window of the connection. */
  recordSent(bytes: number): void;
  /** Adds to the window of the connection. */
  grow(bytes: number): void;
  /** Counts received bytes; returns how many bytes must be acknowledged now. */
  recordReceived(bytes: number): number;
  /** Resolves when the state changes in a way that a writer may wait for. */
  changed(): Promise<void>;
  /** Resolves all waits. */
  wake(): void;
};

/** Default windows of SPDY/3.1 for streams and the connection. */
export const defaultWindowBytes = 64 * 1024;
/** The window of the connection is effectively unlimited; the windows of its streams limit it. */
export const connectionWindowBytes = 16 * 1024 * 1024;
/** Limit of the data of a frame, so that no stream delays the others for long. */
export const maxFrameBytes = 32 * 1024;
const maxWindowBytes = 0x7fffffff;

/** Creates the flow control of a connection whose peer has announced no window. */
export function createFlowControl(): FlowControl {
  const waiters = new Set<() => void>();
  let isEnabled = false;
  let initialWindow = defaultWindowBytes;
  let sendWindow = defaultWindowBytes;
  let unacknowledgedBytes = 0;

  return {
    isEnabled: () => isEnabled,
    initialWindow: () => initialWindow,
    setInitialWindow(bytes) {
      if (bytes > maxWindowBytes) throw new SpdyProtocolError('flow control window overflow');
      const change = bytes - initialWindow;
      initialWindow = bytes;
      isEnabled = true;
      return change;
    },
    roomFor: (streamWindow) => (isEnabled ? Math.min(streamWindow, sendWindow) : maxFrameBytes),
    recordSent(bytes) {
      sendWindow -= bytes;
    },
    grow(bytes) {
      sendWindow += bytes;
    },
    recordReceived(bytes) {
      unacknowledgedBytes += bytes;
      if (!isEnabled || unacknowledgedBytes <= connectionWindowBytes / 2) return 0;
      const acknowledged = unacknowledgedBytes;
      unacknowledgedBytes = 0;
      return acknowledged;
    },
    changed: () => new Promise((resolve) => waiters.add(resolve)),
    wake() {
      for (const resolve of waiters) resolve();
      waiters.clear();
    },
  };
}
