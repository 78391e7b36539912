/** Cost of compiling and evaluating validation rules. Run with `node bench/cel.ts`. */
import { compile } from '@kruise/cel/compile';
import { kubernetesEnvironment } from '@kruise/cel/environments';
import { jsonInt, jsonList, jsonMap, jsonObject, jsonString } from '@kruise/cel/json-types';

const container = jsonObject('self.containers.@idx', {
  name: { type: jsonString({ maxLength: 63 }), isRequired: true },
  image: { type: jsonString() },
});
const self = jsonObject('self', {
  replicas: { type: jsonInt },
  maxReplicas: { type: jsonInt },
  name: { type: jsonString({ maxLength: 253 }) },
  labels: { type: jsonMap(jsonString({ maxLength: 63 })) },
  containers: { type: jsonList(container, { maxItems: 20 }) },
});
const environment = kubernetesEnvironment({ variables: { self, oldSelf: self } });

const object = {
  replicas: 3,
  maxReplicas: 10,
  name: 'web-frontend',
  labels: { app: 'web', tier: 'front', 'example.com/team': 'a' },
  containers: Array.from({ length: 10 }, (_, index) => ({ name: `c-${index}`, image: `registry/app:${index}` })),
};

const rules = {
  'a comparison': 'self.replicas <= self.maxReplicas',
  'a presence test': "!has(self.name) || self.name.startsWith('web-')",
  'a transition': 'self.replicas >= oldSelf.replicas - 1 && self.name == oldSelf.name',
  'a pattern': "self.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",
  'a loop over ten': "self.containers.all(c, c.name.startsWith('c-') && c.image.contains(':'))",
  'a loop in a loop': 'self.containers.all(a, self.containers.exists_one(b, a.name == b.name))',
};

/** Returns the time of one run in microseconds: the best of several rounds, because other work only slows it down. */
function measure(run: () => unknown): number {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 15; round++) {
    const runs = round === 0 ? 200 : Math.max(50, Math.min(200_000, Math.round(20_000 / Math.max(best, 0.05))));
    const start = process.hrtime.bigint();
    for (let index = 0; index < runs; index++) run();
    best = Math.min(best, Number(process.hrtime.bigint() - start) / runs / 1000);
  }
  return best;
}

for (const [name, rule] of Object.entries(rules)) {
  const program = compile(environment, rule);
  if (!program.ok) throw new Error(program.message);
  const compileMicros = measure(() => compile(environment, rule));
  const evaluateMicros = measure(() => program.evaluate({ self: object, oldSelf: object }));
  const { cost } = program.evaluate({ self: object, oldSelf: object });
  console.log(
    `${name.padEnd(18)} compile ${compileMicros.toFixed(1).padStart(6)} µs   evaluate ${evaluateMicros.toFixed(2).padStart(7)} µs   cost ${cost}`,
  );
}
