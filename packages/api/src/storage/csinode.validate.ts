import { type Cause, duplicate, invalid, required } from '@kruise/schema/field-error';
import { validateQualifiedName } from '@kruise/values/names';
import { validateCSIDriverName } from '../core/volume.validate.ts';
import { invalidStructure } from '../meta/go-value.ts';
import { subdomainName } from '../meta/name-rules.ts';
import { validateKindMeta } from '../meta/object-meta.validate.ts';
import { isSame } from '../meta/same.ts';
import { isImmutable, nonNegative, refusals } from '../meta/value.validate.ts';
import type { CSINode, CSINodeDriver } from './csinode.ts';

const maxNodeIdLength = 256;

export function* validateCSINode({ metadata, spec }: CSINode): Generator<Cause> {
  yield* validateKindMeta(metadata, { namespaced: false, name: subdomainName });
  const names = new Set<string>();
  for (const [index, driver] of (spec?.drivers ?? []).entries()) {
    yield* validateDriver(driver, names, `spec.drivers[${index}]`);
    names.add(driver.name);
  }
}

function* validateDriver(driver: CSINodeDriver, names: ReadonlySet<string>, path: string): Generator<Cause> {
  const { name, nodeID, allocatable } = driver;
  yield* validateCSIDriverName(name, `${path}.name`);
  if (!nodeID) yield required(`${path}.nodeID`);
  if (Buffer.byteLength(nodeID) > maxNodeIdLength) {
    yield invalid(`${path}.nodeID`, nodeID, `must be ${maxNodeIdLength} characters or less`);
  }
  yield* nonNegative(`${path}.allocatable.count`, allocatable?.count);
  if (names.has(name)) yield duplicate(`${path}.name`, name);
  const keys = new Set<string>();
  for (const key of driver.topologyKeys ?? []) {
    if (!key) yield required(path);
    if (keys.has(key)) yield duplicate(path, key);
    keys.add(key);
    yield* refusals(path, key, validateQualifiedName(key));
  }
}

/** Drivers may be added and removed. The entry of a driver is immutable. */
export function* validateCSINodeUpdate(node: CSINode, old: CSINode): Generator<Cause> {
  yield* validateCSINode(node);
  for (const before of old.spec?.drivers ?? []) {
    for (const driver of node.spec?.drivers ?? []) {
      if (driver.name !== before.name || isSame(driver, before)) continue;
      yield invalidStructure('spec.drivers', 'storage.CSINodeDriver', driver, isImmutable);
    }
  }
}
