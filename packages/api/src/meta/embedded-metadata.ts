import { codecOf, DecodeError } from '@kruise/schema/codec';
import type { MetadataRules } from '@kruise/schema/structural';
import { type ObjectMeta, objectMeta } from './object-meta.ts';
import { validateObjectMeta } from './object-meta.validate.ts';

const codec = codecOf(objectMeta);

/** Rules for the metadata of objects embedded in custom resources: the same as for any object. */
export const embeddedMetadata: MetadataRules = {
  read(metadata) {
    const unknown: string[] = [];
    try {
      const { creationTimestamp, ...known } = codec.fromJson(metadata, { onUnknown: (path) => unknown.push(path) });
      return { metadata: creationTimestamp ? { creationTimestamp, ...known } : known, unknown };
    } catch (error) {
      if (error instanceof DecodeError) return { error: error.message };
      throw error;
    }
  },
  validate(metadata, path) {
    const read = metadata as ObjectMeta;
    const named = read.name ? read : { ...read, name: 'fakename' };
    return [...validateObjectMeta(named, { namespaced: Boolean(read.namespace) }, path)];
  },
};
