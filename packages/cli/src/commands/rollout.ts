import { readFileSync } from 'node:fs';
import { type CloneSet, cloneSet, cloneSetV1alpha1 } from '@kruise/api/kruise/cloneset';
import type { Client } from '@kruise/client/client';
import { connect } from '@kruise/client/connect';
import { createCaches, onceSynced } from '@kruise/client/informer';
import type { JsonObject } from '@kruise/machinery/json-value';
import { observeCloneSet } from '@kruise/manager/cloneset/controller';
import { planRollout, type RolloutPlan } from '@kruise/manager/cloneset/plan';
import { featureGates, parseFeatureGates } from '@kruise/manager/configuration/feature-gates';
import { managerSettings } from '@kruise/manager/configuration/settings';
import { convertObject } from '@kruise/manager/conversion/catalogue';
import { parseYaml } from '@kruise/schema/yaml-text';
import { systemClock, systemRandom } from '@kruise/values/system';

export type RolloutPlanOptions = {
  readonly kubeconfig?: string;
  readonly namespace?: string;
  /** Manifest to plan for; the live object if undefined. */
  readonly filename?: string;
  readonly featureGates?: string;
  readonly json?: boolean;
};

const kinds = ['cloneset', 'clonesets', 'clone'];

/** Prints the steps of a rollout and its blockers. Writes nothing. */
export async function planCommand(target: string, options: RolloutPlanOptions): Promise<number> {
  const [kind = '', name = ''] = target.split('/');
  if (!kinds.includes(kind.toLowerCase().split('.')[0] ?? '') || name === '') {
    console.error(`Only rollouts of CloneSets can be planned: use cloneset/NAME, not ${target}.`);
    return 1;
  }
  const place = options.kubeconfig === undefined ? {} : { path: options.kubeconfig };
  const { client, namespace: usual, close } = connect(systemClock, { ...place, userAgent: 'kruise' });
  const namespace = options.namespace ?? usual;
  const stop = new AbortController();
  try {
    const planned = options.filename
      ? await dryRunApply(client, options.filename, { namespace, name })
      : await client.get(cloneSet, { namespace, name });
    const settings = managerSettings({ gates: featureGates(parseFeatureGates(options.featureGates ?? '')) });
    const caches = createCaches(client, systemClock, systemRandom, {}, stop.signal);
    const plan = await onceSynced(() =>
      planRollout(observeCloneSet(caches, planned, settings), settings, systemClock.now()),
    );
    console.log(options.json ? JSON.stringify(plan, undefined, 2) : describe(name, plan));
    return 0;
  } finally {
    stop.abort();
    close();
  }
}

/** Returns the object that a server-side dry-run apply of the manifest yields. */
async function dryRunApply(client: Client, file: string, reference: { namespace: string; name: string }) {
  const manifest = parseYaml(readFileSync(file, 'utf8')) as JsonObject & { readonly metadata?: object };
  const isOlder = manifest['apiVersion'] === 'apps.kruise.io/v1alpha1';
  const object = { ...manifest, metadata: { ...manifest.metadata, ...reference } };
  const options = { fieldManager: 'kruise-rollout-plan', force: true, dryRun: true };
  if (!isOlder) return client.apply(cloneSet, object, options);
  const answer = await client.apply(cloneSetV1alpha1, object, options);
  // The conversion yields an object of the requested version.
  return convertObject(answer as unknown as JsonObject, 'apps.kruise.io/v1beta1') as unknown as CloneSet;
}

function describe(name: string, { revision, waves, isComplete, blockers }: RolloutPlan): string {
  const lines = waves.flatMap((wave, index) => [
    `${index + 1}.`,
    ...wave.map(
      ({ pod, does, why }) =>
        `   ${does.padEnd(16)} ${pod}${why === undefined ? '' : `  (no in-place update: ${why})`}`,
    ),
  ]);
  return [
    `cloneset/${name} to revision ${revision}: ${waves.length === 0 ? 'nothing to do' : `${waves.length} waves`}`,
    ...lines,
    ...(isComplete ? [] : ['   …']),
    ...(blockers.length > 0 ? ['Blocked by:', ...blockers.map((each) => `   ${each}`)] : []),
  ].join('\n');
}
