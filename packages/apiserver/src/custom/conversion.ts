import type { Versioned } from '@kruise/machinery/server-side-apply/updater';
import type { KubeObject } from '../object.ts';
import type { Conversion } from '../resource.ts';
import { type Converter, renaming } from './converter.ts';
import { type CustomVersion, versionNamed } from './version.ts';

/**
 * How objects come from storage, where they may be of any version there ever was, to one version, and back. What an
 * object is in a version is worked out once: everyone who reads or watches it is shown the same.
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
      remember(stored, found);
    }
    return found;
  }

  function remember(stored: KubeObject, found: KubeObject | Promise<KubeObject>): void {
    known.set(stored, found);
    if (!(found instanceof Promise)) return;
    found.then(
      (object) => known.set(stored, object),
      // A webhook that failed may answer the next time.
      () => known.delete(stored),
    );
  }

  function toVersion(object: KubeObject, apiVersion: string): Promise<Versioned> | undefined {
    const wanted = versionNamed(versions, apiVersion);
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
    const complete = foreign.map((object) => versionNamed(versions, object.apiVersion)?.form(object) ?? object);
    const all = await converter.convert(complete, version.apiVersion);
    for (const [index, object] of all.entries()) known.set(foreign[index]!, version.formConverted(object));
  }

  return {
    storageVersion: storage.name,
    // Admission may have left what the schema does not know, or nulls, for validation to see.
    toStorage: (object) => converted(object, storage, versions, converter),
    fromStorage,
    ...(converter === renaming ? {} : { toVersion, prepare }),
  };
}

/** An object in a version, in its form; with the defaults of the version it was stored or sent in. */
function converted(
  object: KubeObject,
  version: CustomVersion,
  versions: ReadonlyMap<string, CustomVersion>,
  converter: Converter,
): KubeObject | Promise<KubeObject> {
  if (object.apiVersion === version.apiVersion) return version.form(object);
  const complete = versionNamed(versions, object.apiVersion)?.form(object) ?? object;
  const all = converter.convert([complete], version.apiVersion);
  return all instanceof Promise ? all.then(([first]) => version.formConverted(first!)) : version.formConverted(all[0]!);
}
