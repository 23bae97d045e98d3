# usage: zsh -f completion.zsh SCRIPT OUTPUT LINE: writes to OUTPUT what LINE and a Tab become
zmodload zsh/zpty
typeset -F SECONDS
zpty -b shell "TERM=dumb zsh -f -i"
zpty -w shell "autoload -U compinit; compinit -u -D; source ${(q)1}; unsetopt automenu
show() { print -r -- \"\$BUFFER\" > ${(q)2} }; zle -N show; bindkey '^X' show; touch ${(q)2}.ready"
while (( SECONDS < 20 )) && [[ ! -e $2.ready ]]; do zpty -r -t shell _ || sleep 0.05; done
zpty -w -n shell "$3"$'\t\x18'
while (( SECONDS < 40 )) && [[ ! -s $2 ]]; do zpty -r -t shell _ || sleep 0.05; done
zpty -d shell
