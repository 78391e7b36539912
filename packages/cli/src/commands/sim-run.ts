import { readFileSync, writeFileSync } from 'node:fs';
import type { KubernetesObject } from '@kruise/client/object-key';
import { parseYaml, splitYamlDocuments } from '@kruise/schema/yaml-text';
import { parsePlan } from '@kruise/sim/plan';
import { simulateManifests } from '@kruise/sim/simulate-manifests';
import { renderTimeline } from '@kruise/sim/timeline-chart';

export type SimRunOptions = {
  readonly plan?: string;
  readonly minutes: string;
  readonly seed: string;
  readonly nodes: string;
  readonly svg?: string;
};

/** Applies manifests to a simulated cluster on virtual time, and prints what happens. */
export async function simRun(files: readonly string[], options: SimRunOptions): Promise<number> {
  const manifests = files.flatMap(manifestsIn);
  const minutes = Number(options.minutes);
  const nodes = Number(options.nodes);
  if (!(minutes > 0)) throw new Error(`--minutes must be a positive number, not ${options.minutes}`);
  if (!Number.isInteger(nodes) || nodes < 1) throw new Error(`--nodes must be a positive number, not ${options.nodes}`);
  const planText = options.plan === undefined ? '[]' : readFileSync(options.plan, 'utf8');
  const story = await simulateManifests({
    manifests,
    plan: (names) => parsePlan(planText, names),
    minutes,
    seed: options.seed,
    nodes,
    onLine: (atMs, line) => console.log(`${timeOf(atMs)}  ${line}`),
  });
  for (const [name, samples] of story.samples) {
    const { available, wanted } = samples.at(-1)!;
    const least = Math.min(...samples.filter(({ atMs }) => atMs > 0).map((each) => each.available));
    console.log(
      `${name}: ${available} of ${wanted} available at the end${Number.isFinite(least) ? `, minimum ${least}` : ''}`,
    );
  }
  if (options.svg !== undefined) writeFileSync(options.svg, renderTimeline(story));
  return 0;
}

function manifestsIn(file: string): readonly KubernetesObject[] {
  return splitYamlDocuments(readFileSync(file, 'utf8')).flatMap((text, index) => {
    const document = parseYaml(text);
    if (document == null) return [];
    const { apiVersion, kind, metadata, items } = document as Partial<KubernetesObject> & { readonly items?: unknown };
    // A List stands for its items.
    if (kind === 'List' && Array.isArray(items)) return items as readonly KubernetesObject[];
    if (!apiVersion || !kind || !metadata)
      throw new Error(
        `${file}, document ${index + 1}: not a manifest, because apiVersion, kind or metadata is missing`,
      );
    return [document as KubernetesObject];
  });
}

function timeOf(atMs: number): string {
  const seconds = atMs / 1000;
  return `${Math.floor(seconds / 60)}:${(seconds % 60).toFixed(1).padStart(4, '0')}`;
}
