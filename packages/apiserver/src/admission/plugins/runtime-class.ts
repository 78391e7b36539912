import { type Pod, pod } from '@kruise/api/core/pod';
import type { Toleration } from '@kruise/api/core/toleration';
import { type RuntimeClass, runtimeClass } from '@kruise/api/node/runtimeclass';
import { isSame } from '@kruise/machinery/json-value';
import { amountsOf, type ResourceList } from '@kruise/machinery/resource-list';
import type { Draft } from '@kruise/schema/draft';
import { compareQuantities } from '@kruise/values/quantity';
import { type AdmissionPlugin, type Attributes, draftOf, forbiddenWrite, isWriteTo } from '../admission.ts';
import type { Lookup } from '../lookup.ts';

/** RuntimeClass plugin: sets the overhead of a Pod and merges the scheduling constraints of its RuntimeClass. */
export function runtimeClasses(lookup: Lookup): AdmissionPlugin {
  const classes = lookup.of(runtimeClass);

  /** Returns the RuntimeClass of a Pod; undefined if the Pod names no class. */
  function classOf(attributes: Attributes): RuntimeClass | undefined | Promise<RuntimeClass> {
    const name = (attributes.object as Pod).spec?.runtimeClassName;
    if (name == null) return undefined;
    return classes.get(name) ?? missed(attributes, name);
  }

  async function missed(attributes: Attributes, name: string): Promise<RuntimeClass> {
    await lookup.waitForCurrent();
    const found = classes.get(name);
    if (!found) throw forbiddenWrite(attributes, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
    return found;
  }

  function withClass(attributes: Attributes, use: (found: RuntimeClass | undefined) => void): void | Promise<void> {
    const found = classOf(attributes);
    return found instanceof Promise ? found.then(use) : use(found);
  }

  return {
    name: 'RuntimeClass',
    handles: (attributes) => attributes.operation === 'CREATE' && isWriteTo(attributes, pod),
    mutate: (attributes) =>
      withClass(attributes, (found) => {
        if (!found) return;
        setOverhead(attributes, found);
        setScheduling(attributes, found);
      }),
    validate: (attributes) => withClass(attributes, (found) => checkOverhead(attributes, found)),
  };
}

const differs = "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead";

function setOverhead(attributes: Attributes, { overhead }: RuntimeClass): void {
  if (!overhead) return;
  const spec = draftOf<Pod>(attributes).spec!;
  const fixed = overhead.podFixed ?? {};
  if (Object.keys(spec.overhead ?? {}).length > 0 && !isEqual(spec.overhead!, fixed))
    throw forbiddenWrite(attributes, differs);
  spec.overhead = { ...fixed };
}

function checkOverhead(attributes: Attributes, found: RuntimeClass | undefined): void {
  const given = (attributes.object as Pod).spec?.overhead;
  if (found?.overhead) {
    if (!isEqual(given ?? {}, found.overhead.podFixed ?? {})) throw forbiddenWrite(attributes, differs);
  } else if (given != null) {
    throw forbiddenWrite(
      attributes,
      'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
  }
}

function isEqual(first: ResourceList, second: ResourceList): boolean {
  const [a, b] = [amountsOf(first), amountsOf(second)];
  return (
    a.size === b.size && [...a].every(([name, amount]) => b.has(name) && compareQuantities(amount, b.get(name)!) === 0)
  );
}

function setScheduling(attributes: Attributes, { scheduling }: RuntimeClass): void {
  if (!scheduling) return;
  const spec = draftOf<Pod>(attributes).spec!;
  const wanted = scheduling.nodeSelector ?? {};
  for (const [key, value] of Object.entries(wanted)) {
    const own = spec.nodeSelector?.[key];
    if (own === undefined || own === value) continue;
    throw forbiddenWrite(
      attributes,
      `conflict: runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own}`,
    );
  }
  if (Object.keys(wanted).length > 0) spec.nodeSelector = { ...spec.nodeSelector, ...wanted };
  const tolerations = mergeTolerations([...(spec.tolerations ?? []), ...(scheduling.tolerations ?? [])]);
  if (tolerations.length > 0) spec.tolerations = tolerations as Draft<Toleration>[];
}

/** Removes tolerations that another one covers; of equal tolerations the first is kept. */
function mergeTolerations(all: readonly Toleration[]): Toleration[] {
  const merged: Toleration[] = [];
  for (const [index, toleration] of all.entries()) {
    const isCovered =
      merged.some((kept) => covers(kept, toleration)) ||
      all.slice(index + 1).some((later) => !isSame(later, toleration) && covers(later, toleration));
    if (!isCovered) merged.push({ ...toleration });
  }
  return merged;
}

function covers(wide: Toleration, narrow: Toleration): boolean {
  if (isSame(wide, narrow)) return true;
  const anyKey = !wide.key && wide.operator === 'Exists';
  if ((wide.key ?? '') !== (narrow.key ?? '') && !anyKey) return false;
  if (wide.effect && wide.effect !== narrow.effect) return false;
  if (wide.effect === 'NoExecute' && wide.tolerationSeconds != null) {
    if (narrow.tolerationSeconds == null || narrow.tolerationSeconds > wide.tolerationSeconds) return false;
  }
  if (wide.operator === 'Exists') return true;
  return narrow.operator === 'Equal' && (narrow.value ?? '') === (wide.value ?? '');
}
