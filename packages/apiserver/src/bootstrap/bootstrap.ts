import { builtinKinds } from '@kruise/api/builtin';
import { isAlreadyExists } from '@kruise/machinery/status';
import { formatTime } from '@kruise/values/time';
import type { Core } from '../core.ts';
import type { KubeObject } from '../object.ts';
import { apiService, type GroupVersion } from './api-services.ts';
import { defaultFlowControl, reconcileFlowControl } from './flow-control.ts';
import {
  extensionAuthentication,
  namespaces,
  priorityClasses,
  serviceCidr,
  serviceCidrReady,
  type Trust,
  tokenTracking,
} from './objects.ts';
import { defaultPolicy } from './policy/policy.ts';
import { reconcile } from './policy/reconcile.ts';
import { createWriter, type Writer } from './writer.ts';

export type BootstrapOptions = Trust & {
  /** Service CIDRs. */
  readonly serviceRanges: readonly string[];
};

/** Creates the objects that every cluster needs, and reconciles existing ones. */
export async function bootstrap(core: Core, options: BootstrapOptions): Promise<void> {
  const now = formatTime(core.clock.now());
  const writer = createWriter(core, 'kube-apiserver');
  const policyWriter = createWriter(core, 'kube-apiserver', { skipsValidation: true });
  await core.feed.waitForCurrent();
  await Promise.all(namespaces().map((object) => createMissing(policyWriter, object)));
  await Promise.all([
    ...defaultPolicy().map((object) => keepPolicy(policyWriter, object)),
    ...keepFlowControl(core),
    ...priorityClasses().map((object) => createMissing(policyWriter, object)),
    ...builtinVersions().map((version) => createMissing(policyWriter, apiService(version, 'onstart'))),
    keepData(writer, extensionAuthentication(options)),
    createMissing(writer, tokenTracking(now.slice(0, 10))),
    keepServiceCidr(core, writer, options.serviceRanges, now),
  ]);
}

/** Creates an object. AlreadyExists is ignored: another server that starts at the same time may have created it. */
async function createMissing(writer: Writer, object: KubeObject): Promise<boolean> {
  if (writer.current(object)) return false;
  try {
    await writer.create(object);
    return true;
  } catch (error) {
    if (isAlreadyExists(error)) return false;
    throw error;
  }
}

async function keepPolicy(writer: Writer, object: KubeObject): Promise<void> {
  const existing = writer.current(object);
  if (!existing) return void (await createMissing(writer, object));
  const reconciled = reconcile(existing, object);
  if (reconciled.type === 'update') await writer.update(reconciled.object);
  if (reconciled.type === 'replace') {
    await writer.remove(object);
    await writer.create(object);
  }
}

function keepFlowControl(core: Core): Promise<void>[] {
  const writer = createWriter(core, 'api-priority-and-fairness-config-producer-v1', { skipsValidation: true });
  return defaultFlowControl().map(async (object) => {
    const existing = writer.current(object);
    if (!existing) return void (await createMissing(writer, object));
    const repaired = reconcileFlowControl(existing, object);
    if (repaired) await writer.update(repaired);
  });
}

/** Returns the group versions of the built-in resources. */
function builtinVersions(): readonly GroupVersion[] {
  const found = new Map<string, GroupVersion>();
  for (const { group, version } of builtinKinds) found.set(`${group}/${version}`, { group, version });
  // The group of APIServices is always served and needs no APIService.
  return [...found.values()].filter(({ group }) => group !== 'apiregistration.k8s.io');
}

/**
 * Updates the data of a ConfigMap: the CAs may have been regenerated since the last start. Keys that others added are
 * kept.
 */
async function keepData(writer: Writer, object: KubeObject): Promise<void> {
  const existing = writer.current(object);
  if (!existing) return void (await createMissing(writer, object));
  const before = existing.data as { readonly [key: string]: string } | undefined;
  const data = { ...before, ...(object.data as { readonly [key: string]: string }) };
  if (Object.entries(data).some(([key, value]) => before?.[key] !== value)) await writer.update({ ...existing, data });
}

async function keepServiceCidr(core: Core, writer: Writer, ranges: readonly string[], now: string): Promise<void> {
  const object = serviceCidr(ranges);
  if (!(await createMissing(writer, object))) return;
  await createWriter(core, 'kubernetes-service-cidr-controller').applyStatus(serviceCidrReady(now));
}
