import { fail, ok, type Result } from '../kernel/result.ts';
import type { SessionStage, SessionStages } from '../kernel/world/stage.ts';
import { NOTHING_UNAGREED } from '../kernel/world/unagreed-texts.ts';
import type { ApplyOptions, Caller, Change, Files, Search, World } from '../kernel/world/workspace.ts';

type ViewedWorld = Pick<World, 'files' | 'search' | 'unagreed'>;

/** The world in which a session that collects its changes reads and writes its own stage, and every other the workspace. */
export function withSessionStages(world: World, sessions: SessionStages): World {
  const views = new WeakMap<SessionStage, ViewedWorld>();

  function viewOf(stage: SessionStage): ViewedWorld {
    const known = views.get(stage);
    if (known !== undefined) return known;
    const view = world.over?.({ fd: () => stage.fd(), stage: stage.folder }) ?? world;
    views.set(stage, view);
    return view;
  }

  /** Changes that stand on another place than the session's own are kept there. */
  function apply(
    caller: Caller,
    changes: readonly Change[],
    options: ApplyOptions & { readonly own: SessionStage | undefined },
  ): ReturnType<Files['apply']> {
    const { own, onto = own?.session ?? null, ...rest } = options;
    // It was judged as a change of the workspace, or of a stage that is another one by now.
    if (options.onto === undefined && sessions.of(world.root, caller.session) !== own) return overtaken();
    if (onto === null) return world.files(caller).apply(changes, rest);
    const stage = sessions.of(world.root, onto);
    if (stage === undefined) return world.files(caller).apply(changes, { ...rest, onto });
    return stage.use(async () => {
      const noted = stage.note(changes.flatMap(pathsOf));
      return noted.ok ? viewOf(stage).files(caller).apply(changes, rest) : noted;
    });
  }

  function filesOf(caller: Caller, stage: SessionStage): Files {
    let opened: Files | undefined;
    const files = (): Files => (opened ??= viewOf(stage).files(caller));
    return {
      inspect: (path) => files().inspect(path),
      list: (path, query) => stage.use(() => files().list(path, query)),
      readWindow: (path, query) => stage.use(() => files().readWindow(path, query)),
      readText: (path) => stage.use(() => files().readText(path)),
      readBytes: (path, maxBytes) => stage.use(() => files().readBytes(path, maxBytes)),
      apply: (changes, options) => apply(caller, changes, { ...options, own: stage }),
      rehearse: (changes) => stage.use(() => files().rehearse(changes)),
      suggest: (path) => files().suggest(path),
      secretIn: (text) => world.files(caller).secretIn(text),
    };
  }

  function searchOf(caller: Caller, stage: SessionStage): Search {
    const search = viewOf(stage).search(caller);
    return {
      glob: (query) => stage.use(() => search.glob(query)),
      grep: (query) => stage.use(() => search.grep(query)),
    };
  }

  return {
    ...world,
    files(caller) {
      const stage = sessions.of(world.root, caller.session);
      if (stage !== undefined) return filesOf(caller, stage);
      const files = world.files(caller);
      return { ...files, apply: (changes, options) => apply(caller, changes, { ...options, own: undefined }) };
    },
    search(caller) {
      const stage = sessions.of(world.root, caller.session);
      return stage === undefined ? world.search(caller) : searchOf(caller, stage);
    },
    async unagreed(session) {
      const inWorkspace = async () => (await world.unagreed?.(session)) ?? NOTHING_UNAGREED;
      const stage = sessions.of(world.root, session);
      const found = await stage?.use(async () => ok(await viewOf(stage).unagreed?.(session)));
      // The stage has just ended: the session is back in the workspace.
      return found?.ok && found.value !== undefined ? found.value : inWorkspace();
    },
    collects: (session) => sessions.of(world.root, session) !== undefined,
    prepare(session) {
      sessions.refresh();
      return sessions.of(world.root, session)?.prepare();
    },
  };
}

function pathsOf(change: Change): string[] {
  return change.kind === 'move' ? [change.from, change.to] : [change.path];
}

async function overtaken(): Promise<Result<never>> {
  return fail(
    'CONFLICT',
    'The session began or ended to collect its changes meanwhile; nothing was changed. Call again.',
  );
}
