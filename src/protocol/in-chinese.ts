/**
 * The runtime's messages are English, as the record keeps them. These are the most frequent ones in Chinese: `$1` is
 * copied, `$rest` is translated again. Messages that are missing here are shown in English.
 */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  // Pending changes of a command.
  [/^It changes nothing\.$/, '它没有改动任何东西。'],
  [/^It adds empty folders\.$/, '它新增了空目录。'],
  [/^It changes ([\d,]+) files?, deletes ([\d,]+) and adds ([\d,]+)\.$/, '它修改 $1 个文件，删除 $2 个，新增 $3 个。'],
  [/^It changes ([\d,]+) files? and deletes ([\d,]+)\.$/, '它修改 $1 个文件，删除 $2 个。'],
  [/^It changes ([\d,]+) files? and adds ([\d,]+)\.$/, '它修改 $1 个文件，新增 $2 个。'],
  [/^It deletes ([\d,]+) files? and adds ([\d,]+)\.$/, '它删除 $1 个文件，新增 $2 个。'],
  [/^It changes ([\d,]+) files?\.$/, '它修改 $1 个文件。'],
  [/^It deletes ([\d,]+) files?\.$/, '它删除 $1 个文件。'],
  [/^It adds ([\d,]+) files?\.$/, '它新增 $1 个文件。'],
  [
    /^(?<rest>.+) The changes are still pending: keep them with (toolwright keep \w+), or discard them with (toolwright discard \w+)\.$/s,
    '$rest更改仍待处理：用 $2 保留，或用 $3 放弃。',
  ],
  [/^(?<rest>.+) Changed in the workspace meanwhile: (.+)\.$/s, '$rest其间工作区里也改动了：$2。'],
  [/^Changed in the workspace meanwhile: (.+)\.$/s, '其间工作区里也改动了：$1。'],
  [/^Not kept: (.+)\. (?<rest>Kept with changes by a person: .+)$/s, '未保留：$1。$rest'],
  [/^Kept with changes by a person: (.+)\.$/s, '保留时由人修改：$1。'],
  [/^Not kept: (.+)\.$/s, '未保留：$1。'],
  [/^It takes away what nothing else has: (?<rest>.+)\.$/s, '它会失去别处没有的内容：$rest。'],
  [/^its text is in no commit$/, '它的内容不在任何提交中'],
  [/^the repository has commits or objects in it that are nowhere else$/, '仓库里有别处没有的提交或对象'],
  [
    /^(.+) does not collect its changes, so none can stand on them: begin with it\.$/s,
    '$1 没有在收集更改，因此不能并入其中：请先让它开始收集。',
  ],
  [
    /^These stand on the changes of (.+): (.+)\. End or decide about them first\.$/s,
    '以下各项以 $1 的更改为基础：$2。请先结束它们，或对其作出决定。',
  ],
  // Reasons for an approval or a refusal.
  [/^Mode plan only reads\. (?<rest>.+)$/s, 'plan 模式只允许读取。$rest'],
  [/^Mode strict allows only listed calls\. (?<rest>.+)$/s, 'strict 模式只允许清单内的操作。$rest'],
  [
    /^Access denied: mode strict takes no absolute paths\. Write the path relative to the workspace root instead of (.+)\.$/s,
    '拒绝访问：strict 模式不接受绝对路径。请不要写 $1，改用相对于工作区根目录的路径。',
  ],
  [/^Mode plan keeps nothing\.$/, 'plan 模式不保留任何改动。'],
  [/^Mode strict does not ask\. (?<rest>.+)$/s, 'strict 模式不询问。$rest'],
  // It comes first: it may stand behind another reason.
  [
    /^(?:(?<rest>.+) )?It would send to (.+); the session has read (.+) and got text from (.+)\.$/s,
    '$rest它会向 $2 发送数据；本会话读取过 $3，并取得了来自 $4 的文本。',
  ],
  [
    /^This cannot be allowed permanently: no rule lets data of a session out once untrusted text is in it\. Allow it once instead\.$/,
    '不能永久允许：会话中有不可信文本后，没有规则能放行数据外发。请改为允许一次。',
  ],
  [/^(.+) uses the network\.$/s, '$1 会使用网络。'],
  [/^(.+) acts outside the workspace, where nothing can be undone\.$/s, '$1 会作用于工作区之外，那里无法撤销。'],
  [
    /^(.+) cannot be taken back\. Only a rule that names (.+) allows it without approval\.$/s,
    '$1 无法收回。只有写明 $2 的规则才能免除批准。',
  ],
  [
    /^It would run with the network that (.+) allows for another part of the command\.$/s,
    '它会用上规则 $1 为命令的另一部分开放的网络。',
  ],
  [/^It keeps running in the background\.$/, '它会在后台继续运行。'],
  [
    /^It wants to write files, and nothing here can show its changes before they are made\.$/,
    '它要写入文件，而这里无法预先显示它的改动。',
  ],
  [/^Its changes are judged before they are kept\.$/, '它的改动在保留之前会先经过判断。'],
  [/^It sets a variable\.$/, '它会设置一个变量。'],
  [/^It changes an existing file\.$/, '它会修改已有的文件。'],
  [/^It deletes what is there\.$/, '它会删除那里的内容。'],
  [/^It changes the permissions\.$/, '它会修改权限。'],
  [/^It adds a file there\.$/, '它会在那里新增文件。'],
  [/^It is a new file\.$/, '它是新文件。'],
  [/^Git ignores it\.$/, 'git 忽略它。'],
  [/^Reading inside the workspace is allowed\.$/, '允许读取工作区内的文件。'],
  [/^It creates a new file\.$/, '它会新建一个文件。'],
  [/^It would change (.+), which leads to (.+)\.$/s, '它会修改 $1（指向 $2）。'],
  [/^It would delete (.+), which leads to (.+)\.$/s, '它会删除 $1（指向 $2）。'],
  [/^It would move (.+) to (.+)\.$/s, '它会把 $1 移动到 $2。'],
  [/^It would change (.+)\.$/s, '它会修改 $1。'],
  [/^It changes (.+), which exists\.$/s, '它会修改已存在的 $1。'],
  [/^It (?:would delete|deletes) (.+)\.$/s, '它会删除 $1。'],
  [
    /^It would write to (.+), which is outside the workspace\. Write inside it\.$/s,
    '它会写入工作区之外的 $1。请写在工作区内。',
  ],
  [/^(?:The variable )?(.+) may change what runs\.$/s, '$1 可能改变实际运行的内容。'],
  [/^It may print (.+) from the repository, unmasked\.$/s, '它可能打印仓库中的 $1，而那里没有遮挡。'],
  [/^There is no sandbox to contain it\.$/, '没有沙箱可以隔离它。'],
  [/^The rule (.+) says so\.$/s, '规则 $1 如此规定。'],
  [/^The rule (.+) refuses it\.$/s, '规则 $1 拒绝它。'],
  [/^The rule (.+) refuses it: (.+) leads to (.+)\.$/s, '规则 $1 拒绝它：$2 指向 $3。'],
  [/^The rule (.+) refuses something in it\.$/s, '规则 $1 拒绝其中的内容。'],
  [/^The rule (.+) may refuse something in it\.$/s, '规则 $1 可能拒绝其中的内容。'],
  [/^The rule (.+) requires approval\.$/s, '规则 $1 要求批准。'],
  [/^The rule (.+) allows it\.$/s, '规则 $1 允许它。'],
  [/^(.+) is not on the list of allowed hosts\.$/s, '$1 不在允许的主机清单中。'],
  [/^A rule allows (.+) for another method than (\w+)\.$/s, '规则允许访问 $1，但不包括 $2 方法。'],
  [/^(.+) is not on the list of allowed commands\.$/s, '$1 不在允许的命令清单中。'],
  [/^(.+) is protected: (?<rest>.+)\.$/s, '$1 受保护：$rest。'],
  [
    /^(?<rest>.+\.) A person may free it, on the page or with toolwright paths no-secret (.+) \(for commands alone: paths free\)\.$/s,
    '$rest可以由人放行：在页面上，或运行 toolwright paths no-secret $2（只给命令用：paths free）。',
  ],
  [
    /^(?<rest>.+\.) A user can change that in the configuration \(sensitiveFiles, deny\)\.$/s,
    '$rest用户可以在配置中修改（sensitiveFiles、deny）。',
  ],
  [/^(.+) cannot be used: (?<rest>.+)\.$/s, '不能使用 $1：$rest。'],
  [/^(.+) is a sensitive file \((?<rest>.+)\): tools cannot use it\.$/s, '$1 是敏感文件（$rest）：工具不能使用它。'],
  [/^(.+) holds an? (.+): tools cannot use it\.$/s, '$1 中有机密（$2）：工具不能使用它。'],
  [/^the configuration says so$/, '配置如此规定'],
  [
    /^(.+) has a second name \(a hard link\), which may be outside the workspace\. Open it where it is\.$/s,
    '$1 还有另一个名字（硬链接），可能在工作区之外。请直接在原处打开。',
  ],
  [/^(.+) is no text\. Open it in another program\.$/s, '$1 不是文本。请用别的程序打开。'],
  [
    /^(.+) is Toolwright's own: no decision gives it to tools or commands\.$/s,
    '$1 属于 Toolwright 自身：任何决定都不能让工具或命令使用它。',
  ],
  [
    /^The configuration keeps (.+) from tools, and no decision lifts that\. Change it there \(sensitiveFiles\)\.$/s,
    '配置不让工具使用 $1，任何决定都不能放开。请在配置中修改（sensitiveFiles）。',
  ],
  [
    /^(.+) is not inside the workspace: name a file or a folder in it\.$/s,
    '$1 不在工作区内：请给出工作区里的文件或目录。',
  ],
  [/^(.+) is a symlink to (.+): decide about that path\.$/s, '$1 是指向 $2 的符号链接：请对那个路径作决定。'],
  [/^(.+) is no file: agree to single files\.$/s, '$1 不是文件：只能同意单个文件。'],
  [
    /^There is no decision about (.+) in this workspace\. List them with toolwright paths\.$/s,
    '这个工作区没有关于 $1 的决定。用 toolwright paths 列出全部。',
  ],
  [/^environment files hold secrets$/, '环境变量文件中有机密'],
  [/^it holds credentials$/, '其中有凭据'],
  [/^it looks like a private key$/, '它看起来是私钥'],
  [/^git would take its folder for a repository$/, 'git 会把它所在的文件夹当作仓库'],
  [/^it belongs to git$/, '它属于 git'],
  [/^an? (.+) on the host can run programs from it$/, '主机上的程序（$1）会执行其中的内容'],
  [/^(.+) on the host can run programs from it$/, '主机上的 $1 会执行其中的内容'],
  [/^an? (.+) on the host takes it for instructions$/, '主机上的程序（$1）会把它当作指令'],
  [/^(.+) on the host takes it for instructions$/, '主机上的 $1 会把它当作指令'],
  [
    /^git on the host goes on from it, as with git rebase --continue, and carries out (.+)$/s,
    '主机上的 git 会从这里继续（如 git rebase --continue），并执行 $1',
  ],
  [
    /^git on the host goes on from it, as with git rebase --continue$/,
    '主机上的 git 会从这里继续（如 git rebase --continue）',
  ],
  [/^it is Toolwright's own$/, '它属于 Toolwright 自身'],
  [/^Refused for safety: (?<rest>.+)$/s, '为安全起见已拒绝：$rest'],
  [/^it would delete (.+) and everything in it\.$/s, '它会删除 $1 及其中的一切。'],
  [
    /^This cannot be allowed permanently: (?<rest>.+)\. Allow it once instead\.$/s,
    '不能永久允许：$rest。请改为允许一次。',
  ],
  [/^(.+) can run anything, so a rule for it would allow anything$/s, '$1 能运行任何东西，为它设规则等于允许一切'],
  // Outcomes of a call.
  [/^Error: (?<rest>.+)$/s, '错误：$rest'],
  [/^A person refused to run (.+)\. Do not try it again unchanged\.$/s, '用户拒绝运行 $1。请不要原样重试。'],
  [
    /^Access denied: (.+) is outside the workspace\. Use a path relative to the workspace root\.$/s,
    '拒绝访问：$1 在工作区之外。请使用相对于工作区根目录的路径。',
  ],
  [
    /^File not found: (.+)\. Find files with list_directory or glob, or create it with write_file\.$/s,
    '没有文件 $1。可用 list_directory 或 glob 查看，或用 write_file 创建它。',
  ],
  [/^Missing required parameter: (.+)$/s, '缺少必需的参数：$1'],
  [
    /^bubblewrap is not installed, so commands cannot be isolated and do not run\.\s*(?<rest>.*)$/s,
    '没有安装 bubblewrap，命令无法隔离，因此不会运行。$rest',
  ],
  // Failures of the server.
  [/^The server does not answer\. Is it still running\?$/, '服务器没有响应。它还在运行吗？'],
  [/^(.+)\. Check the key and that it may use this model\.$/s, '$1。请检查密钥是否正确，以及它是否可以使用此模型。'],
  [/^(.+)\. Check the model's name and modelBaseUrl\.$/s, '$1。请检查模型名称和地址（modelBaseUrl）。'],
  [
    /^The demo works on the demo workspace: open examples\/demo-workspace, or a copy of it\.$/,
    '演示只能在演示工作区中进行：请打开 examples/demo-workspace 或它的副本。',
  ],
  [
    /^Your role is (\S+); this needs (\S+)\. Ask an administrator for another token\.$/,
    '你的角色是 $1，此操作需要 $2。请向管理员申请另一个令牌。',
  ],
  // Messages of the terminal.
  [
    /^No model is configured\. Set (\S+) or (\S+), or modelBaseUrl and model for one of your own\.$/,
    '没有配置模型。请设置 $1 或 $2，或用 modelBaseUrl 和 model 指定自己的模型。',
  ],
  [
    /^(\S+) needs a key: set (\S+), or keep one in credentials\.json\.$/,
    '$1 需要密钥：请设置 $2，或把密钥保存在 credentials.json 中。',
  ],
  [
    /^Port (\d+) of (\S+) is in use\. Stop the program that uses it, or choose another with --port; --port 0 takes any free one\.$/,
    '$2 的端口 $1 已被占用。请停止占用它的程序，或用 --port 另选一个；--port 0 会选用任意空闲端口。',
  ],
  [/^The provider (\S+) needs (\S+), such as (\S+)\.$/, 'provider $1 需要 $2，例如 $3。'],
  [/^(.+) is not a folder: give one that exists\.$/, '$1 不是目录，请给一个已存在的目录。'],
  [/^--(\S+) needs a value\.$/, '--$1 需要一个值。'],
  [/^'(.*)' is not understood: give parameters as --name value\.$/s, '不明白 “$1”：参数要写成 --名字 值。'],
  [
    /^(\w+) is a setting and no parameter of (.+): write --set \w+=…, or --input for arguments\.$/s,
    '$1 是设置项，不是 $2 的参数：请写成 --set $1=…，参数也可以用 --input 给出。',
  ],
  [/^--input gives all parameters: leave out (.+)\.$/s, '--input 已给出全部参数：请去掉 $1。'],
  [
    /^Session (\S+) has a run under way in (.+): wait for its end, or stop it there\.$/,
    '会话 $1 正由 $2 运行：请等它结束，或在那里停止它。',
  ],
  [
    /^Without one, `toolwright chat` is in manual mode and `toolwright demo` plays a script\.$/,
    '没有模型时，`toolwright chat` 为手动模式，`toolwright demo` 播放脚本。',
  ],
  [/^Install Node 22\.19 or newer\.$/, '请安装 Node 22.19 或更新版本。'],
  [/^Run `npm ci` again in the installation\.$/, '请在安装目录重新运行 `npm ci`。'],
  [/^Run `toolwright verify` for all of it\.$/, '运行 `toolwright verify` 查看全部问题。'],
  [/^search works$/, '搜索正常'],
  [
    /^Toolwright cannot write its record in (.+) \((\w+)\)\. Make it writable, or name another folder: (.+)\.$/,
    'Toolwright 无法在 $1 写入记录（$2）。请让它可写，或指定别的目录：$3。',
  ],
  [
    /^(.+) is switched off in the configuration \(disabledTools\): change it there\.$/,
    '$1 已在配置（disabledTools）中关闭：请在那里修改。',
  ],
  [/^Install it: (.+)$/s, '请安装：$1'],
  [/^commands run unprotected$/, '命令在没有保护的情况下运行'],
  [/^Remove "sandbox: none" \((.+)\) to run commands isolated\.$/, '去掉 “sandbox: none”（$1）即可隔离运行命令。'],
  [
    /^There is no saved rule (.+)\. Those of the configuration are removed there\.$/,
    '没有保存的规则 $1。配置文件里的规则请在那里删除。',
  ],
  [
    /^Nothing to undo for call (\S+) in this workspace\.$/,
    '此工作区中没有调用 $1 可撤销的修改。用 toolwright history 查看调用。',
  ],
  [
    /^(.+) cannot be written \((\w+)\)\. Make its folder writable, or set (\w+) to another one\.$/,
    '无法写入 $1（$2）。请让它所在的目录可写，或把 $3 设为别的目录。',
  ],
  [/^(\d+) events in (.+)$/, '$2 中有 $1 个事件'],
];

/** Messages are short; a longer text is the output of a tool. */
const LONGEST = 4000;

export function inChinese(text: string): string {
  if (text.length > LONGEST) return text;
  for (const [pattern, words] of SENTENCES) {
    const found = pattern.exec(text);
    if (found === null) continue;
    const rest = inChinese(found.groups?.rest ?? '');
    return words.replace(/\$(rest|\d)/g, (_, part: string) => (part === 'rest' ? rest : (found[Number(part)] ?? '')));
  }
  return text;
}
