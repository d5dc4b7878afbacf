// The runtime of a case in a process of its own, so that it can be killed: makes the case's call and waits.
import { openCommandWorld } from './command-world.ts';
import type { Fixture } from './fixture.ts';

const fixture = JSON.parse(process.argv[2] ?? '') as Fixture;
const { toolwright } = await openCommandWorld(fixture, { approve: true });
await toolwright.call(fixture.attack.tool, { ...fixture.attack.input });
setInterval(() => {}, 60_000);
