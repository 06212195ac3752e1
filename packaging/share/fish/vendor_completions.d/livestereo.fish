# Completion of livestereo for fish. Commands, options and parameters are asked of the program, so
# nothing here needs to follow its changes. SPDX-License-Identifier: MIT

function __livestereo_commands
    livestereo --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'
end

function __livestereo_options
    set -l command (commandline -opc)[2]
    contains -- "$command" (__livestereo_commands); or set command view
    livestereo $command --help 2>/dev/null | sed -n '/^  -/{s/^  //;s/  .*//;p}' |
        grep -o -e '--[a-z0-9-]*'
end

function __livestereo_parameters
    livestereo --help-params 2>/dev/null | sed -n '
        s/^  \([a-z0-9_]*\)  .*/\1=/p'
    livestereo --help-params 2>/dev/null | awk '/^  [a-z0-9_]+  [^ ,]*\|/ {
        count = split(substr($2, 1, length($2) - 1), choice, "|")
        for (i = 1; i <= count; i++) print $1 "=" choice[i] }'
end

complete -c livestereo -n __fish_use_subcommand -a '(__livestereo_commands)'
complete -c livestereo -n __fish_use_subcommand -l help-params -d 'List the parameters'
complete -c livestereo -n __fish_use_subcommand -l list-presets -d 'List the presets'
complete -c livestereo -n __fish_use_subcommand -l version
complete -c livestereo -n 'string match -q -- "-*" (commandline -ct)' -a '(__livestereo_options)'
complete -c livestereo -l preset -x -a '(livestereo --list-presets 2>/dev/null)'
complete -c livestereo -l set -x -a '(__livestereo_parameters)'
