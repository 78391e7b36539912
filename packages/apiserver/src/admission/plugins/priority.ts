import { type Pod, pod } from '@kruise/api/core/pod';
import { type PriorityClass, priorityClass } from '@kruise/api/scheduling/priorityclass';
import { type AdmissionPlugin, type Attributes, draftOf, forbiddenWrite, isWriteTo } from '../admission.ts';
import { derived, type Lookup } from '../lookup.ts';

/** Priority plugin: sets the priority and preemption policy of a Pod from its PriorityClass. */
export function priority(lookup: Lookup): AdmissionPlugin {
  const classes = lookup.of(priorityClass);
  // Two default classes can only result from a race; the one with the lower value wins.
  const defaultClass = derived(classes, (all): PriorityClass | undefined =>
    all
      .filter(({ globalDefault }) => globalDefault)
      .reduce<PriorityClass | undefined>(
        (least, each) => (least && least.value <= each.value ? least : each),
        undefined,
      ),
  );

  function admitPod(attributes: Attributes): void {
    const spec = draftOf<Pod>(attributes).spec!;
    let found: PriorityClass | undefined;
    if (spec.priorityClassName) {
      found = classes.get(spec.priorityClassName);
      if (!found) throw forbiddenWrite(attributes, `no PriorityClass with name ${spec.priorityClassName} was found`);
    } else {
      found = defaultClass();
      if (found) spec.priorityClassName = found.metadata.name!;
    }
    const value = found?.value ?? 0;
    if (spec.priority != null && spec.priority !== value) {
      throw forbiddenWrite(
        attributes,
        `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
      );
    }
    spec.priority = value;
    const policy = found ? found.preemptionPolicy : 'PreemptLowerPriority';
    if (policy == null) return;
    if (spec.preemptionPolicy != null && spec.preemptionPolicy !== policy) {
      throw forbiddenWrite(
        attributes,
        `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${policy} from the given PriorityClass name`,
      );
    }
    spec.preemptionPolicy = policy;
  }

  return {
    name: 'Priority',
    handles: (attributes) =>
      (attributes.operation === 'CREATE' || attributes.operation === 'UPDATE') &&
      (isWriteTo(attributes, pod) || isWriteTo(attributes, priorityClass)),
    mutate(attributes) {
      if (!isWriteTo(attributes, pod)) return;
      if (attributes.operation === 'CREATE') admitPod(attributes);
      else keepPriority(attributes);
    },
    validate(attributes) {
      if (!isWriteTo(attributes, priorityClass)) return;
      const object = attributes.object as PriorityClass;
      const already = object.globalDefault ? defaultClass() : undefined;
      if (!already || (attributes.operation === 'UPDATE' && already.metadata.name === object.metadata.name)) return;
      throw forbiddenWrite(
        attributes,
        `PriorityClass ${already.metadata.name} is already marked as default. Only one default can exist`,
      );
    },
  };
}

/** Keeps the priority on an update that omits it: the client does not intend to remove a defaulted field. */
function keepPriority(attributes: Attributes): void {
  const spec = draftOf<Pod>(attributes).spec!;
  const before = (attributes.oldObject as Pod).spec;
  if (spec.priority == null && before?.priority != null) spec.priority = before.priority;
  if (spec.preemptionPolicy == null && before?.preemptionPolicy != null) {
    spec.preemptionPolicy = before.preemptionPolicy;
  }
}
