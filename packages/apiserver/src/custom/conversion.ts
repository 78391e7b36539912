import type { Versioned } from '@kruise/machinery/server-side-apply/updater';
import type { KubeObject } from '../object.ts';
import type { Conversion } from '../resource.ts';
import { type Converter, versionRename } from './converter.ts';
import { type CustomVersion, findVersion } from './version.ts';

/**
 * Converts objects between storage, where they may have any version, and one version. The result is memoized per stored
 * object, so that all readers and watchers share it.
 */
export function customConversion(
  version: CustomVersion,
  versions: ReadonlyMap<string, CustomVersion>,
  storage: CustomVersion,
  converter: Converter,
): Conversion {
  const known = new WeakMap<KubeObject, KubeObject | Promise<KubeObject>>();

  function fromStorage(stored: KubeObject): KubeObject | Promise<KubeObject> {
    let found = known.get(stored);
    if (found === undefined) {
      found = converted(stored, version, versions, converter);
      memoizeConversion(stored, found);
    }
    return found;
  }

  function memoizeConversion(stored: KubeObject, found: KubeObject | Promise<KubeObject>): void {
    known.set(stored, found);
    if (!(found instanceof Promise)) return;
    found.then(
      (object) => known.set(stored, object),
      // A failed webhook call is retried on the next read.
      () => known.delete(stored),
    );
  }

  function toVersion(object: KubeObject, apiVersion: string): Promise<Versioned> | undefined {
    const wanted = findVersion(versions, apiVersion);
    return wanted && inVersion(object, wanted);
  }

  async function inVersion(object: KubeObject, wanted: CustomVersion): Promise<Versioned> {
    if (object.apiVersion === wanted.apiVersion) return { object, type: wanted.mergeType };
    const [first] = await converter.convert([object], wanted.apiVersion);
    return { object: first!, type: wanted.mergeType };
  }

  async function prepare(stored: readonly KubeObject[]): Promise<void> {
    const foreign = stored.filter((object) => object.apiVersion !== version.apiVersion && !known.has(object));
    await Promise.all(stored.map((object) => known.get(object)));
    if (foreign.length === 0) return;
    const complete = foreign.map((object) => findVersion(versions, object.apiVersion)?.structure(object) ?? object);
    const all = await converter.convert(complete, version.apiVersion);
    for (const [index, object] of all.entries()) known.set(foreign[index]!, version.structureConverted(object));
  }

  return {
    storageVersion: storage.name,
    // Admission may have left unknown fields or nulls, which validation must see.
    toStorage: (object) => converted(object, storage, versions, converter),
    fromStorage,
    ...(converter === versionRename ? {} : { toVersion, prepare }),
  };
}

/** Converts an object to a version and structures it; defaults come from the version that it was stored or sent in. */
function converted(
  object: KubeObject,
  version: CustomVersion,
  versions: ReadonlyMap<string, CustomVersion>,
  converter: Converter,
): KubeObject | Promise<KubeObject> {
  if (object.apiVersion === version.apiVersion) return version.structure(object);
  const complete = findVersion(versions, object.apiVersion)?.structure(object) ?? object;
  const all = converter.convert([complete], version.apiVersion);
  return all instanceof Promise
    ? all.then(([first]) => version.structureConverted(first!))
    : version.structureConverted(all[0]!);
}
