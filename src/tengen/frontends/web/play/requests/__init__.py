"""What clients may ask a session for, in groups; what follows from each is in `session`.

dispatch       a client's messages, each given to the method of its type
request_group  a group: a session, and methods marked by `message`
playing        moves of a game that is played, hints, its end and its count
records        opening records, walking and editing their trees
kept_games     a player's games and strength
analysing      networks, live analyses, reviews
moments        costly turns that come back as puzzles
"""
