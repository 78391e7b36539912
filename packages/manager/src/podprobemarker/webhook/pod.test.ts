import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Pod, pod } from '@kruise/api/core/pod';
import { type PodContainerProbe, podProbeMarker } from '@kruise/api/kruise/podprobemarker';
import { startTestCluster, type TestCluster } from '../../testing/test-cluster.ts';

const probe = { exec: { command: ['true'] } };
const probeOf = (
  name: string,
  containerName = 'main',
  podConditionType = `example.com/${name}`,
): PodContainerProbe => ({
  name,
  containerName,
  probe,
  podConditionType,
  markerPolicy: [{ state: 'Succeeded', labels: { [name]: 'yes' } }],
});

const mark = ({ client }: TestCluster, name: string, app: string, ...probes: readonly PodContainerProbe[]) =>
  client.create(podProbeMarker, {
    metadata: { name, namespace: 'default' },
    spec: { selector: { matchLabels: { app } }, probes },
  });

/** Returns the annotations of a new Pod about its probes: their names, and those of markers. */
async function probeAnnotations({ client }: TestCluster, metadata: Partial<Pod['metadata']> = {}) {
  const { annotations = {} } = (
    await client.create(
      pod,
      {
        metadata: { name: 'a', namespace: 'default', labels: { app: 'web' }, ...metadata },
        spec: {
          initContainers: [
            { name: 'side', image: 'app', restartPolicy: 'Always' },
            { name: 'first', image: 'app' },
          ],
          containers: [{ name: 'main', image: 'app' }],
        },
      },
      { dryRun: true },
    )
  ).metadata;
  const probes = JSON.parse(annotations['kruise.io/podprobe'] ?? '[]') as readonly PodContainerProbe[];
  assert.ok(probes.every((each) => each.markerPolicy === undefined && each.probe.exec));
  return [probes.map(({ name }) => name).join(' '), annotations['kruise.io/podprobemarker-list']];
}

test('a Pod is annotated with the probes of its containers, one for each condition', async () => {
  await using cluster = await startTestCluster();
  const { podConditionType: _, ...silent } = probeOf('silent');
  await mark(cluster, 'z', 'web', probeOf('idle'), probeOf('warm', 'side'), probeOf('lost', 'none'), silent);
  await mark(cluster, 'b', 'web', probeOf('early', 'first'), probeOf('again', 'main', 'example.com/idle'));
  await mark(cluster, 'c', 'web', probeOf('busy'));
  await mark(cluster, 'other', 'other', probeOf('else'));
  await cluster.pass(1);
  assert.deepEqual(await probeAnnotations(cluster, { labels: { app: 'none' } }), ['', undefined]);
  const [names, markers] = await probeAnnotations(cluster);
  assert.deepEqual(names?.split(' ').sort(), ['again', 'busy', 'warm'].sort());
  assert.equal(markers, 'b,c,z');
  const named = { annotations: { 'kruise.io/podprobemarker-list': 'other,missing' } };
  assert.deepEqual(await probeAnnotations(cluster, named), ['else', 'other']);
});

test('with the gate disabled a Pod has no probe annotations', async () => {
  await using cluster = await startTestCluster({ EnablePodProbeMarkerOnServerless: false });
  await mark(cluster, 'a', 'web', probeOf('idle'));
  await cluster.pass(1);
  assert.deepEqual(await probeAnnotations(cluster), ['', undefined]);
});
