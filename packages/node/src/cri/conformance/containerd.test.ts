import { after as delay } from '@kruise/values/clock';
import { systemClock } from '@kruise/values/system';
import { createGrpcRuntime } from '../grpc/grpc-runtime.ts';
import { busyboxImage, startContainerd } from './containerd.ts';
import { onContainerd } from './on-containerd.ts';
import { describeRuntime } from './suite.ts';

onContainerd('containerd', (title) =>
  describeRuntime(title, async () => {
    const containerd = await startContainerd();
    const connection = new AbortController();
    const runtime = createGrpcRuntime({ clock: systemClock, endpoint: containerd.endpoint, signal: connection.signal });
    return {
      runtime,
      image: busyboxImage,
      folder: containerd.directory,
      isRecent: false,
      async until(condition) {
        const deadline = systemClock.now() + 30_000;
        while (!(await condition())) {
          if (systemClock.now() >= deadline)
            throw new Error(`timed out waiting for the condition\n${containerd.output()}`);
          await delay(systemClock, 20);
        }
      },
      async close() {
        connection.abort();
        await containerd.dispose();
      },
    };
  }),
);
