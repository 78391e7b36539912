/** Environment variables that refer to the labels and annotations of their Pod. */
import type { Container } from '@kruise/api/core/container';
import { sidecarSetVersionAltEnv, sidecarSetVersionEnv } from '@kruise/api/kruise/well-known';

export type MetadataReference = {
  /** The environment variable. */
  readonly name: string;
  readonly from: 'labels' | 'annotations';
  readonly key: string;
};

/** Variables that SidecarSets manage. */
const excluded = new Set([sidecarSetVersionEnv, sidecarSetVersionAltEnv]);

export function metadataReferences({ env = [] }: Container): readonly MetadataReference[] {
  return env.flatMap(({ name, value, valueFrom }) => {
    const path = valueFrom?.fieldRef?.fieldPath;
    if (value || !path || excluded.has(name)) return [];
    const [, from, key = ''] = /^metadata\.(labels|annotations)\['(.*)'\]$/s.exec(path) ?? [];
    return from ? [{ name, from: from as MetadataReference['from'], key }] : [];
  });
}
