import { simulatedNode } from '../simulated/testing/simulated-node.ts';
import { describeRuntime } from './suite.ts';

describeRuntime('the simulated runtime', async () => {
  const { runtime, clock } = simulatedNode();
  return {
    runtime,
    image: 'docker.io/library/busybox:latest',
    folder: '/var/lib/conformance',
    isRecent: true,
    async until(condition) {
      const deadline = clock.now() + 30_000;
      while (!(await condition())) {
        if (clock.now() >= deadline) throw new Error('timed out waiting for the condition');
        await clock.advanceAsync(50);
      }
    },
    async close() {},
  };
});
