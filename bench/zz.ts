const { benchmark } = await import(process.argv[2] ?? '');
console.log(await benchmark.run());
